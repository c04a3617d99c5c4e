//! Work of several tasks comes back, whenever the program is killed.

mod killed;
