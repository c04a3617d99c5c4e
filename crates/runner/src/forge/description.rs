//! The part of a pull request's text that is the program's. It stands between two marks that the forge's pages do
//! not show, and the first has a checksum of what follows: it is brought up to date as long as nobody else changed
//! it, and all that stands around it is never touched.

const OPENING: &str = "<!-- tillgreen ";
const OPENED: &str = " -->\n";
const CLOSING: &str = "\n<!-- /tillgreen -->";

/// A text with its marks.
pub(super) fn framed(text: &str) -> String {
    // A mark within the text would end it early.
    let text = text.trim().replace("<!--", "<! --");
    format!("{OPENING}{}{OPENED}{text}{CLOSING}\n", digest(&text))
}

/// What the whole is to be, where it is not that already and nobody else changed the program's part.
pub(super) fn renewed(whole: &str, text: &str) -> Option<String> {
    let whole = whole.replace("\r\n", "\n");
    let (before, rest) = whole.split_once(OPENING)?;
    let (known, rest) = rest.split_once(OPENED)?;
    let (old, after) = rest.split_once(CLOSING)?;
    let framed = framed(text);
    let renewed = format!("{before}{}{after}", framed.trim_end());
    (known == digest(old) && renewed != whole).then_some(renewed)
}

fn digest(text: &str) -> String {
    format!("{:08x}", crc32fast::hash(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_programs_part_is_renewed_and_the_rest_is_kept() {
        let whole = framed("one\ntwo");
        assert_eq!(renewed(&whole, "one\ntwo"), None, "nothing changed");
        let around = format!("Dear all,\n\n{whole}\nYours");
        let expected = format!("Dear all,\n\n{}\nYours", framed("three"));
        assert_eq!(renewed(&around, "three"), Some(expected.clone()));
        assert_eq!(
            renewed(&around.replace('\n', "\r\n"), "three"),
            Some(expected),
            "as the forge's pages save it"
        );
    }

    #[test]
    fn what_a_person_changed_is_kept() {
        let whole = framed("one\ntwo");
        assert_eq!(renewed(&whole.replace("two", "2"), "three"), None);
        assert_eq!(renewed("written by hand", "three"), None);
        assert_eq!(renewed(&whole.replace(CLOSING, ""), "three"), None);
        assert_eq!(renewed("", "three"), None);
    }

    #[test]
    fn a_mark_within_the_text_is_none() {
        let whole = framed("a <!-- /tillgreen --> b\n<!-- /tillgreen -->");
        assert_eq!(whole.matches("<!-- /tillgreen -->").count(), 1);
        assert_eq!(renewed(&whole, "c"), Some(framed("c")));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_renewed(old in ".{0,80}", new in ".{0,80}", around in "[a-z\n]{0,20}") {
            let whole = format!("{around}{}", framed(&old));
            let renewed = renewed(&whole, &new).unwrap_or(whole);
            proptest::prop_assert_eq!(renewed, format!("{}{}", around, framed(&new)));
        }

        #[test]
        fn no_text_makes_it_panic(whole in "(<!-- tillgreen |.| -->\n|\n<!-- /tillgreen -->){0,12}") {
            renewed(&whole, "new");
        }
    }
}
