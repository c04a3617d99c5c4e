//! Who is kept out, and what the page may do.

use testkit::Screen;

use super::scene::{Server, finished, sandbox};

#[test]
fn without_the_token_there_is_nothing_to_see() {
    let sandbox = sandbox();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let (host, cookie) = (format!("Host: {}", server.host()), server.cookie());
    let origin = format!("Origin: {}", server.base());
    let check = |first: &str, headers: &[&str], body: &str, expected: u16| {
        let (status, answer) = server.ask(first, headers, body);
        assert_eq!(status, expected, "{first} {headers:?}: {answer}");
        assert!(
            answer.contains("content-security-policy: default-src 'none'; script-src 'self'"),
            "{answer}"
        );
        answer
    };
    let told = check("GET /", &[&host], "", 401);
    assert!(
        told.contains("open the address that `tillgreen serve` printed") && !told.contains(server.token())
    );
    check("GET /api/runs", &[&host], "", 401);
    check("GET /page/app.js", &[&host], "", 401);
    check("GET /?t=0", &[&host], "", 403);
    let entered = check(&format!("GET /?t={}", server.token()), &[&host], "", 303);
    assert!(
        entered.contains("HttpOnly; SameSite=Strict") && entered.contains("location: /\r\n"),
        "{entered}"
    );
    check("GET /api/runs", &[&host, &cookie], "", 200);
    check("GET /api/runs", &["Host: evil.example", &cookie], "", 403);
    check("GET /api/runs", &[&host, &cookie, "Origin: http://evil.example"], "", 403);
    check("POST /api/say", &[&host, &cookie], "{}", 403);
    check("POST /api/say", &[&host, &cookie, "Origin: null"], "{}", 403);
    check("POST /api/say", &[&host, &cookie, &origin], "{}", 400);
    check("POST /api/say", &[&host, &cookie, &origin], &"x".repeat(70_000), 413);
    check("GET /nothing", &[&host, &cookie], "", 404);
    check("GET /page/..%2f..%2fetc%2fpasswd", &[&host, &cookie], "", 404);
    check("GET /api/run?run=..%2f..", &[&host, &cookie], "", 400);
    check("GET /api/text?run=specs-demo&task=..%2f..&part=output", &[&host, &cookie], "", 200);
    let told = sandbox.run(&["serve", "--listen", server.host()]).expect_code(2).stderr;
    assert!(told.contains("cannot listen on ") && told.contains("--listen 127.0.0.1:0"), "{told}");
}

#[test]
fn another_page_in_the_same_browser_gets_nothing() {
    let sandbox = finished();
    let server = Server::start(&sandbox, "127.0.0.1:0");
    let other = Server::start(&sandbox, "127.0.0.1:0");
    let Some(page) = server.look(&sandbox, "browser", Screen::DESK) else { return };
    // The page of the other server is of another origin; its own policy would keep it from asking, so it asks by a form.
    page.open(&other.url);
    page.wait_to_see("3/3 tasks");
    let asked = page.promise(&format!(
        "try {{ return (await fetch('{}/api/runs', {{ credentials: 'include' }})).status }} catch (error) {{ return 'kept out' }}",
        server.base()
    ));
    assert_eq!(asked, "kept out");
    let framed = page.promise(&format!(
        "const frame = document.createElement('iframe'); frame.src = '{}/'; document.body.append(frame);
         await new Promise((done) => setTimeout(done, 300));
         try {{ return frame.contentDocument === null || frame.contentDocument.body.innerText === '' }} catch {{ return true }}",
        server.base()
    ));
    assert_eq!(framed, true);
    let inline = page.promise(
        "const script = document.createElement('script'); script.textContent = 'window.ran = true';
         document.body.append(script); await new Promise((done) => setTimeout(done, 50)); return window.ran === true",
    );
    assert_eq!(inline, false, "no script of the page's own text runs");
}
