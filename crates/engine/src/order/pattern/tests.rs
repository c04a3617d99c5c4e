//! Entries that can be about the same file, in a table and for texts that nobody would write.

use proptest::prelude::*;

use super::Pattern;

fn meets(one: &str, other: &str) -> bool {
    let (one, other) = (Pattern::read(one), Pattern::read(other));
    let found = one.meets(&other);
    assert_eq!(found, other.meets(&one), "{one:?} and {other:?}: either way the same");
    found
}

#[test]
fn patterns_that_have_a_file_in_common() {
    let pairs = [
        ("src/*.rs", "src/a.rs"),
        ("src/*.rs", "src/a*"),
        ("src/*.rs", "src"),
        ("src/*.rs", "src/"),
        ("src/*", "src/a/b"),
        ("src/a.*", "src/*.rs"),
        ("*.md", "README.md"),
        ("*.md", "docs/x.md"),
        ("*.md", "docs"),
        ("*.md", "docs/*"),
        ("**/*.rs", "c.rs"),
        ("**/*.rs", "src/deep/c.rs"),
        ("**/*.rs", "src"),
        ("**/*.rs", "c.d/"),
        ("src/**/test/*.rs", "src/a/b/test/c.rs"),
        ("src/**/test/*.rs", "src/test/c.rs"),
        ("src/**", "src/a"),
        ("src/**", "src"),
        ("src/**/a", "**/b"),
        ("**", "a"),
        ("*", "a/b"),
        (".", "a/b.rs"),
        ("", "*.md"),
        ("conf.d", "conf.d/*.conf"),
        ("conf.d/", "conf.d/*.conf"),
        ("src/{a,b}.rs", "src/b.rs"),
        ("{src,lib}/a.rs", "lib/*"),
        ("src/{a,{b,c}}.rs", "src/c.rs"),
        ("src/{a,b/c}.rs", "src/b/c.rs"),
        ("src/[ab].rs", "src/b.rs"),
        ("src/[!a].rs", "src/b.rs"),
        ("src/[a-c].rs", "src/b.rs"),
        ("app/[id]/page.tsx", "app/[id]/page.tsx"),
        ("app/[id]/page.tsx", "app/*/page.tsx"),
        ("app/[...slug]/page.tsx", "app/[...slug]"),
        ("a/{id}/b", "a/{id}/b"),
        ("a/{id", "a/{id"),
        ("a/[id", "a/[id"),
        ("a\\*b", "a*b"),
        ("a/???", "a/b?d"),
        ("*a*b*", "x/cab"),
        ("src/x**y", "src/xz/y"),
        ("../src/*.rs", "src/a.rs"),
        ("/src//./a.rs", "src/*.rs"),
        ("ä/?.rs", "ä/ö.rs"),
    ];
    for (one, other) in pairs {
        assert!(meets(one, other), "{one} and {other}");
    }
}

#[test]
fn patterns_that_have_none() {
    let pairs = [
        ("src/*.rs", "src/a.md"),
        ("*.md", "src/x.rs"),
        ("src/{a,b}.rs", "src/c.rs"),
        ("**/*.rs", "c.txt"),
        ("src/*.rs", "src/deep/a.rs"),
        ("src/*.rs", "src/a/"),
        ("src/*.rs", "lib/*.rs"),
        ("src/*/a.rs", "src/a.rs"),
        ("src/**/a.rs", "src/b.rs"),
        ("src/**/*.rs", "**/*.md"),
        ("src/**", "lib/a"),
        ("src/a*", "src/b*"),
        ("*.rs", "*.md"),
        ("src/[ab].rs", "src/c.rs"),
        ("src/[!a].rs", "src/a.rs"),
        ("src/[a-c].rs", "src/d.rs"),
        ("{a,b}/**", "c/d"),
        ("a/??", "a/b"),
        ("src*", "lib"),
        ("日*", "月"),
        ("a/*_test.go", "a/b.go"),
    ];
    for (one, other) in pairs {
        assert!(!meets(one, other), "{one} and {other}");
    }
}

#[test]
fn too_much_to_spell_out_stands_for_all_that_begins_alike() {
    let many = format!("src/x{}", "{a,b}".repeat(40));
    assert!(meets(&many, "src/xyz.md") && meets(&many, "src/x/y.md") && !meets(&many, "src/y"));
    let long = format!("src/{}", "*a".repeat(10_000));
    assert!(meets(&long, "src/b") && !meets(&long, "lib"));
    let nested = "{".repeat(50_000);
    assert!(meets(&nested, "a"), "nobody can tell");
}

/// Paths, a pattern made out of each by putting wildcards in, and something that the pattern is not about.
fn path() -> impl Strategy<Value = Vec<String>> {
    prop::collection::vec("[ab]{1,3}(\\.(rs|md))?", 1..4)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn whatever_both_were_made_of_is_in_both(names in path(), how in prop::collection::vec(0_u8..6, 8)) {
        let path = names.join("/");
        let blur = |how: &[u8]| {
            let blurred = names.iter().zip(how).map(|(name, how)| match how {
                0 => "*".to_owned(),
                1 => "**".to_owned(),
                2 => format!("{}*", &name[..1]),
                3 => format!("[ab]{}", &name[1..]),
                4 => format!("{{x,{name}}}"),
                _ => name.clone(),
            });
            blurred.collect::<Vec<_>>().join("/")
        };
        let (one, other) = (blur(&how[..4]), blur(&how[4..]));
        prop_assert!(meets(&one, &path) && meets(&one, &other), "{one} and {other} for {path}");
    }

    #[test]
    fn nothing_is_too_odd(one in "[a*?\\[\\]{},./!^\\\\-]{0,24}", other in "[a*?\\[\\]{},./ä-]{0,24}") {
        meets(&one, &other);
    }
}
