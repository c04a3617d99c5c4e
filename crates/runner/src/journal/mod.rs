//! The append-only record of a run: one JSONL file with a sequence number and a checksum on each line, and the
//! lock that makes sure that one process writes it.
//!
//! What an event is and means is the engine's business; this module only keeps events, in order and whole.
//!
//! ```text
//! {"tillgreen":"journal","version":2}
//! {"seq":1,"crc":"0a1b2c3d","event":{…}}
//! {"seq":2,"crc":"99887766","event":{…}}
//! ```

mod error;
mod follow;
mod line;
mod lock;
mod read;
mod records;
mod write;

#[cfg(test)]
mod tests;

pub use error::{JournalError, LineProblem};
pub use follow::{Follower, News};
pub use line::{LINE_BYTES_MAX, Seq, VERSION, text_of};
pub use lock::{Holder, LockError, RunLock, holder};
pub use read::{ReadEnd, read, read_from};
pub(crate) use records::load_at;
pub use records::{RecordError, RecordFile, RecordPlace, RecordsError, load, records, review};
pub use write::{Journal, Opened, Torn};
