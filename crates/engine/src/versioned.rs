//! States, observations and actions as they travel: for another driver of the same engine, which has its agents and its
//! checks on other machines.
//!
//! They are never the record. What happened is in the journal alone, and a state can always be folded from it again; a
//! state that was written down saves that to somebody who does not have the journal at hand. So there is no promise to
//! read what another version wrote: it is refused, and asked for anew.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::state::State;

/// The version of everything that travels. It counts up when the form of a state, an observation or an action changes.
pub const WIRE_VERSION: u32 = 1;

/// A state, an observation or an action with the version of its form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Versioned<T> {
    version: Version,
    /// The state, observation or action.
    pub content: T,
}

impl<T> Versioned<T> {
    /// The content in the form of this version.
    pub fn new(content: T) -> Self {
        Self { version: Version, content }
    }
}

/// The version that this program writes, and the only one that it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Version;

impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WIRE_VERSION.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u32::deserialize(deserializer)? {
            WIRE_VERSION => Ok(Self),
            other => Err(D::Error::custom(format!("version {other} instead of {WIRE_VERSION}"))),
        }
    }
}

impl Serialize for State {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut state = Self::deserialize(deserializer)?;
        state.reindex();
        Ok(state)
    }
}
