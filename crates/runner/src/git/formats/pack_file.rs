//! Several objects in one file, as git packs them, and the index by which they are found in it.

use std::collections::BTreeMap;

use super::checksum::checksum;
use super::loose_object::{Kind, deflated};
use crate::git::history::{Oid, digits};

/// Every file of its kind begins with this, and the version of its format.
const PACK: &[u8] = b"PACK\0\0\0\x02";
const INDEX: &[u8] = b"\xfftOc\0\0\0\x02";

/// A larger pack would need wider numbers in its index.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// Objects by their names.
pub(in crate::git) type Objects = BTreeMap<Oid, (Kind, Vec<u8>)>;

/// The content of both files.
#[derive(Debug)]
pub(in crate::git) struct Pack {
    /// What their names have in common.
    pub(in crate::git) name: String,
    pub(in crate::git) content: Vec<u8>,
    pub(in crate::git) index: Vec<u8>,
}

/// An object in a pack.
struct Place {
    name: Vec<u8>,
    offset: u32,
    sum: u32,
}

impl Pack {
    /// A pack of some objects. None: there is nothing to pack, or too much.
    pub(in crate::git) fn of(objects: &Objects) -> Option<Pack> {
        let width = objects.keys().next()?.width();
        let mut content = PACK.to_vec();
        content.extend(u32::try_from(objects.len()).ok()?.to_be_bytes());
        let mut places = Vec::new();
        for (name, (kind, object)) in objects {
            let offset = content.len();
            content.extend(header(*kind, object.len()));
            content.extend(deflated(object));
            let sum = crc32fast::hash(content.get(offset..)?);
            places.push(Place { name: name.bytes(), offset: u32::try_from(offset).ok()?, sum });
            (content.len() <= BYTES_MAX).then_some(())?;
        }
        let sum = checksum(&[&content], width)?;
        content.extend_from_slice(&sum);
        Some(Pack { name: digits(&sum), content, index: index(&places, &sum)? })
    }
}

/// The name of the pack that an index is of; none if it is no index. Names of objects have so many bytes in it.
pub(in crate::git) fn pack_of(index: &[u8], width: usize) -> Option<String> {
    let sums = index.strip_prefix(INDEX)?;
    let place = sums.len().checked_sub(2 * width)?;
    Some(digits(sums.get(place..place + width)?))
}

/// What stands before an object: its kind and how many bytes it has, seven bits in a byte but for the first, in which
/// four are left; the highest says that more follow.
fn header(kind: Kind, mut size: usize) -> Vec<u8> {
    let low = |size: usize, mask: usize| u8::try_from(size & mask).unwrap_or_default();
    let mut bytes = vec![kind.number() << 4 | low(size, 0x0f)];
    size >>= 4;
    while size > 0 {
        if let Some(last) = bytes.last_mut() {
            *last |= 0x80;
        }
        bytes.push(low(size, 0x7f));
        size >>= 7;
    }
    bytes
}

/// How many objects have names that begin with each byte or a lower one; then their names, sums and places, in the order
/// of the names; the sum of the pack, and that of all this.
fn index(places: &[Place], pack: &[u8]) -> Option<Vec<u8>> {
    let mut index = INDEX.to_vec();
    for first in 0..=u8::MAX {
        let count = places.partition_point(|place| place.name.first().is_some_and(|byte| *byte <= first));
        index.extend(u32::try_from(count).ok()?.to_be_bytes());
    }
    places.iter().for_each(|place| index.extend_from_slice(&place.name));
    places.iter().for_each(|place| index.extend(place.sum.to_be_bytes()));
    places.iter().for_each(|place| index.extend(place.offset.to_be_bytes()));
    index.extend_from_slice(pack);
    let sum = checksum(&[&index], pack.len())?;
    index.extend(sum);
    Some(index)
}

#[cfg(test)]
mod tests {
    use super::{Kind, header};

    #[test]
    fn sizes_are_told_as_git_tells_them() {
        let check = |size, expected: &[u8]| assert_eq!(header(Kind::Blob, size), expected, "{size}");
        check(0, &[0x30]);
        check(15, &[0x3f]);
        check(16, &[0xb0, 0x01]);
        check(2047, &[0xbf, 0x7f]);
        check(2048, &[0xb0, 0x80, 0x01]);
    }
}
