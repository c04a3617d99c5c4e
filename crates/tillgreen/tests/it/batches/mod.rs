//! Tasks side by side: whatever agents do in their trees and whenever the program dies, what passed comes back in
//! order, once, and nothing else does.

mod ahead;
mod alone;
mod by_index;
mod coming_back;
mod declared_order;
mod editors;
mod failures;
mod hanging;
mod hooks;
mod installed;
mod joining;
mod kept_trees;
mod killed_gits;
mod kills;
mod leftovers;
mod meddling;
mod mischief;
mod odd_places;
mod one_tree;
mod other_text;
mod people;
mod phases;
mod plan_words;
mod random;
mod repositories;
mod scene;
mod similar_names;
mod spares;
mod stopping;
mod submodules;
mod surroundings;
mod tidying;
mod traces;
mod two_plans;
mod unreadable;
