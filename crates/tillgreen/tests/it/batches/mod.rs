//! Tasks side by side: whatever agents do in their slots and whenever the program dies, what passed comes in once, and
//! nothing else does.

mod editors;
mod failures;
mod filters;
mod hooks;
mod joining;
mod killed_gits;
mod kills;
mod leftovers;
mod mischief;
mod odd_places;
mod order;
mod other_text;
mod people;
mod phases;
mod random;
mod repositories;
mod scene;
mod several_plans;
mod shared_settings;
mod side_by_side;
mod stopping;
mod submodules;
mod surroundings;
