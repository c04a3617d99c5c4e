//! What is masked and what is not: as a whole, in pieces, and fast enough.

use std::time::Instant;

use proptest::prelude::*;

use crate::process::printable;

use super::{MaskedStream, likely_secret, mask, mask_tail};

#[test]
fn keys_are_masked_and_other_text_stays() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    check("token sk-ant-abc123def456 here", "token [masked] here");
    check("API_KEY=abcdef0123456789", "API_KEY=[masked]");
    check("password: \"hunter2hunter2\"", "password: \"[masked]\"");
    check("Authorization: Bearer eyJhbGciOi.J9abc123", "Authorization: Bearer [masked]");
    check("ghp_0123456789abcdef", "[masked]");
    check(
        "-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter",
        "-----BEGIN RSA PRIVATE KEY-----\n[masked]\n-----END RSA PRIVATE KEY-----\nafter",
    );
    check("token: expected `)` but found `;`", "token: expected `)` but found `;`");
    check("error[E0432]: unresolved import `plan::TaskId`", "error[E0432]: unresolved import `plan::TaskId`");
    check("", "");
}

#[test]
fn passwords_are_masked_however_they_look() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    check("PASSWORD=hunter2", "PASSWORD=[masked]");
    check("export DB_PASSWORD='corr!ct horse'; x", "export DB_PASSWORD='[masked]'; x");
    check("DB_PASSWORD: swordfish\n", "DB_PASSWORD: [masked]\n");
    check(
        "{\"password\": \"s3cr!t$x\", \"user\": \"bob\"}",
        "{\"password\": \"[masked]\", \"user\": \"bob\"}",
    );
    check("\\\"password\\\": \\\"swordfish\\\"", "\\\"password\\\": \\\"[masked]\\\"");
    check("client_secret: swordfish-9", "client_secret: [masked]");
    check("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic [masked]");
    check("\"authorization\": \"token abcdefg\"", "\"authorization\": \"token [masked]\"");
    check("postgres://bob:pw@db:5432/x?y", "postgres://bob:[masked]@db:5432/x?y");
    check("see https://a.b/c:d@e and git+ssh://u:p@h", "see https://a.b/c:d@e and git+ssh://u:[masked]@h");
}

#[test]
fn code_and_messages_about_passwords_stay() {
    for text in [
        "password: string",
        "  password: String,",
        "password: Option<String>,",
        "let password = read_password(prompt)?;",
        "password: z.string().min(8)",
        "error: wrong password: please try again",
        "if password == other.password {",
        "password::hash(text)",
        "PASSWORD=$DB_PASSWORD make",
        "password=x",
        "PASSWORD_FILE=/run/secrets/database",
        "PWD=/home/bob/project",
        "Basic settings are shown; authorization failed",
        "def login(user, password=None):",
        "authenticate(user, password=password)",
        "connect(host, password=self.password, port=5432)",
        "connect(password=os.environ[\"DB_PASSWORD\"])",
        "connect(password=config.db.password2)",
        "login({ password: credentials, user });",
        "db.password = userInput",
        "const password = process.env.DB_PASSWORD;",
        "secret: true",
        "secret: null",
        "password = 12345678",
        "api_key=config.api_key_v2",
        "password=\"\"; user=\"bob and alice\"",
        "password: \"Enter your password again\"",
        "password=<your password>",
        "postgres://bob:$DB_PASSWORD@db/x and postgres://bob:${PW}@db/x",
        "the flag --password takes a value; use --token instead",
        "tool --password-stdin --token \"$TOKEN\" --max-tokens 200000 --password PASSWORD",
        "docker login -u bob --password-stdin; docker run -p 8080:80 image; redis-cli -a $PASS",
        "at 12:AAron 1234567890:AAshort sig=short",
        "https://example.com:8080/a@b",
    ] {
        assert_eq!(mask(text), text);
    }
}

#[test]
fn passwords_of_commands_are_masked() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    check("tool --password hunter2 --port 80", "tool --password [masked] --port 80");
    check("tool --token 'abc123def' x", "tool --token '[masked]' x");
    check("tool --api-key a1b2c3d4\n", "tool --api-key [masked]\n");
    check("docker login -u bob -p sw0rdfish ghcr.io", "docker login -u bob -p [masked] ghcr.io");
    check("sshpass -p sw0rdfish ssh bob@host", "sshpass -p [masked] ssh bob@host");
    check("redis-cli -a sw0rdfish ping", "redis-cli -a [masked] ping");
}

#[test]
fn values_end_where_their_text_ends() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    // As half a line of JSON has it, which is no JSON.
    check(r#"…password=hunter2\nTASK_COMPLETE", "id":1"#, r#"…password=[masked]\nTASK_COMPLETE", "id":1"#);
    check(r#"password=hunter2", "id":1"#, r#"password=[masked]", "id":1"#);
    check(r#"{\"password\": \"hunter2\", \"a\": 1"#, r#"{\"password\": \"[masked]\", \"a\": 1"#);
    check(r#"  "password": "a\"b c\"d", x"#, r#"  "password": "[masked]", x"#);
    check("Server=x;Password=hunter2;User=y", "Server=x;Password=[masked];User=y");
    check("?password=hunter2&user=bob", "?password=[masked]&user=bob");
    check("login(password=hunter2)", "login(password=[masked])");
    check("PASSWORD=mysecretpassword", "PASSWORD=[masked]");
    check("password=secret123", "password=[masked]");
}

#[test]
fn long_lines_take_no_longer_than_they_are() {
    for part in [
        "password:x(",
        "password=",
        "password=\"",
        "://a:",
        "password: \"\"",
        "secret:\\",
        "password=a;b",
        "--password ",
        "-----BEGIN PRIVATE KEY-----",
        "docker login -p ",
        "1234567890:AA",
        "{\"password\":\"x\",",
        "[",
        "\\\"",
    ] {
        let masked = mask(&part.repeat(100_000));
        assert!(masked.len() <= part.len() * 100_000 * 2);
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_masked_without_a_panic_and_only_once(text in ".*(sk-|token=|Bearer |PRIVATE KEY|password[=:] ?\"?|://a:b@|Authorization: Basic )?.*\n?.*") {
        let masked = mask(&text);
        proptest::prop_assert_eq!(mask(&masked), masked);
    }
}

#[test]
fn tokens_of_all_issuers_are_masked_wherever_they_stand() {
    let long = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6";
    let tokens = [
        "AKIAIOSFODNN7EXAMPLE".to_owned(),
        format!("AccountKey={long}{}==", &long[..34]),
        format!("sig=a%2B{}%3D", &long[..40]),
        format!("123456789:AA{}", &long[..33]),
        format!("bot1234567890:AA{}", &long[..33]),
        format!("ghp_{}", &long[..36]),
        format!("github_pat_11AAAAAAA0{}_{long}", &long[..10]),
        format!("glpat-{}", &long[..20]),
        format!("sk-ant-api03-{long}-{long}"),
        format!("sk-proj-{long}_{long}"),
        format!("sk-{}T3BlbkFJ{}", &long[..20], &long[..20]),
        format!("AIzaSy{}", &long[..33]),
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH".to_owned(),
        format!("xai-{long}{}", &long[..28]),
        format!("gsk_{long}"),
        format!("sk_live_{}", &long[..24]),
        format!("sk_test_{}", &long[..24]),
        format!("rk_live_{}", &long[..24]),
        "xoxb-123456789012-123456789012-abcdefABCDEF123456789012".to_owned(),
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX".to_owned(),
        format!("npm_{}", &long[..36]),
        format!("pypi-AgEIcHlwaS5vcmc{long}"),
        format!("AGE-SECRET-KEY-1{}", long.to_uppercase() + "ABCDEF"),
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N".to_owned(),
    ];
    for token in &tokens {
        for (before, after) in
            [("", ""), ("x ", "\n"), ("\"", "\","), ("url?key=", "&x=1"), ("said:\\n", "\\n")]
        {
            let masked = mask(&format!("{before}{token}{after}"));
            assert!(!masked.contains(&token[token.len() - 12..]), "{masked}");
            assert!(masked.starts_with(before) && masked.ends_with(after), "{masked}");
        }
        assert!(likely_secret(&format!("+const KEY = \"{token}\";")).is_some(), "{token}");
    }
}

#[test]
fn private_keys_are_masked_in_listings_and_in_json_and_code_about_them_stays() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    let body = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
    let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} PRIVATE KEY-----"));
    check(
        &format!("a\n{begin}\n{body}\n{body}\nAb==\n{end}\nb\n"),
        &format!("a\n{begin}\n[masked]\n{end}\nb\n"),
    );
    check(&format!("1→{begin}\n2→{body}\n+{body}\n4→{end}\n"), &format!("1→{begin}\n[masked]\n4→{end}\n"));
    check(
        &format!("{{\"k\":\"{begin}\\n{body}\\n{end}\\n\",\"n\":1}}"),
        &format!("{{\"k\":\"{begin}\\n[masked]\\n{end}\\n\",\"n\":1}}"),
    );
    check(&format!("KEY=\"{begin}\\n{body}"), &format!("KEY=\"{begin}[masked]"));
    check(
        &format!("KEYS='{begin}\\n{body}\\n{end}\\n{begin}\\n{body}\\n{end}\\n'"),
        &format!("KEYS='{begin}[masked]{end}\\n{begin}[masked]{end}\\n'"),
    );
    for text in [
        format!("if key.starts_with(\"{begin}\") {{\n    return Err(error);\n}}\n"),
        format!("looks for {begin}\nand then goes on with other words\n"),
    ] {
        check(&text, &text);
    }
}

#[test]
fn logins_of_curl_are_masked() {
    let check = |text: &str, expected: &str| assert_eq!(mask(text), expected);
    check("curl -u bob:swordfish https://a.b", "curl -u bob:[masked] https://a.b");
    check("curl -s --user 'bob:sword fish' x", "curl -s --user 'bob:[masked] fish' x");
    check("$ curl -ubob:swordfish x", "$ curl -ubob:[masked] x");
    check("curl -u bob:$PASS x; docker run -u 1000:1000 y", "curl -u bob:$PASS x; docker run -u 1000:1000 y");
}

#[test]
fn hashes_and_other_noise_stay() {
    let base64 = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".repeat(40);
    for text in [
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "\"integrity\": \"sha512-3P8f4k2hJ0bYwqk0Jt6c5m1nQ2r3s4t5u6v7w8x9y0zA==\"",
        "id 550e8400-e29b-41d4-a716-446655440000",
        "{\"input_tokens\":1234567890123,\"max_tokens\":200000}",
        "class=\"sk-fading-circle sk-circle\"",
        "task-management-and-risk-assessment-2024",
        "npm_lifecycle_event=test hf_transformers",
        "https://example.com/path/eyJ/x",
        "Tests: 12 passed, 12 total; tokenizer ok",
        &format!("data:image/png;base64,{base64}"),
    ] {
        assert_eq!(mask(text), text);
        assert_eq!(likely_secret(text), None, "{text}");
    }
}

/// A text through a stream, in pieces of some size.
fn streamed(text: &str, size: usize) -> String {
    let (mut stream, mut masked) = (MaskedStream::default(), Vec::new());
    text.as_bytes().chunks(size.max(1)).for_each(|piece| stream.take(piece, &mut masked));
    stream.end(&mut masked);
    String::from_utf8(masked).unwrap()
}

#[test]
fn what_comes_in_pieces_is_masked_as_the_whole_is() {
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA75BvrxxTMBqJ\n-----END RSA PRIVATE KEY-----";
    let text = format!("é ghp_a1B2c3D4e5F6g7H8i9J0\npassword: swordfish\n{key}\nlast sk-ant-abc123def456");
    for size in 1..text.len() {
        assert_eq!(streamed(&text, size), mask(&text), "in pieces of {size}");
    }
}

#[test]
fn what_is_left_of_a_secret_at_a_cut_goes() {
    let (mut stream, mut masked) = (MaskedStream::default(), Vec::new());
    stream.take(b"one\ntwo ghp_a1B2c", &mut masked);
    stream.cut(&mut masked);
    assert_eq!(String::from_utf8(masked).unwrap(), "one\ntwo [masked]");
    assert_eq!(mask_tail("3D4e5F6g7H8i9J0 and more\n"), "[masked] and more\n");
    assert_eq!(
        mask_tail("MIIEowIBAAKC\nAQEA75Bv\n-----END RSA PRIVATE KEY-----\nmore"),
        "[masked]\n-----END RSA PRIVATE KEY-----\nmore"
    );
    assert_eq!(mask_tail(" plain text\n"), " plain text\n");
    assert_eq!(mask_tail("\nplain text\n"), "\nplain text\n");
}

#[test]
fn masking_takes_little_time() {
    let line =
        "test tokenizer::reads_a_line ... ok (0.01s) at crates/plan/src/parse.rs:42:17 with 12 tokens\n";
    let text = line.repeat(100_000);
    let started = Instant::now();
    let masked = mask(&text);
    let rate = text.len() as f64 / started.elapsed().as_secs_f64() / 1e6;
    assert_eq!(masked.len(), text.len());
    println!("{rate:.0} MB/s");
    // An output is kept to less than half a megabyte: that must not take longer than a process takes to start.
    assert!(rate > 0.1, "{rate} MB/s");
}

proptest! {
    #[test]
    fn any_pieces_of_any_text_are_masked_as_the_whole_is(
        text in "(.|\n|ghp_a1B2c3D4e5F6g7H8i9J0|-----BEGIN PRIVATE KEY-----\n|MIIEowIBAAKCAQEA\n|password: \"x1y2z3a4\"| ){0,40}",
        size in 1_usize..40,
    ) {
        prop_assert_eq!(streamed(&text, size), mask(&printable(text.as_bytes())));
    }
}
