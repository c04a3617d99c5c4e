//! Makes the pictures of the documents: the page of a small run, dark, light and on a telephone, and a recording of how it
//! comes to be. `./pictures.sh` starts it, with the program and the folder for the pictures.

use std::error::Error;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use testkit::{Agent, Browser, Sandbox, Screen, Step, wait_for};

const PLAN: &str = "\
# Tasks: slugs

## Phase 1: Make it work

- [ ] 1.1 Write titles in lower case
  - **Files**: `lower.txt`
  - **Verify**: `grep -qs good lower.txt`
- [ ] 1.2 Put dashes between words
  - **Files**: `dashes.txt`
  - **Verify**: `grep -qs good dashes.txt || { echo \"FAIL tests/dashes.test.ts: 'hello world' should give 'hello-world'\"; exit 1; }`
- [ ] 1.3 Leave no dash at the ends
  - **Verify**: `grep -qs good ends.txt || { echo 'FAIL tests/ends.test.ts'; exit 1; }`

## Phase 2: Around it

- [ ] 2.1 [P] Say how to use it
  - **Files**: `usage.md`
  - **Verify**: `test -s usage.md`
- [ ] 2.2 [P] Collect examples
  - **Files**: `examples.txt`
  - **Verify**: `test -s examples.txt`
- [ ] 2.3 [VERIFY] All tests pass
  - **Verify**: `test -s usage.md`
";

/// Pixels of the pictures.
const DESK: Screen = Screen { width: 780, height: 660, is_phone: false };
/// What makes a step of the run: how the tasks stand, and whether somebody is asked.
const STEP: &str = "return [...document.querySelectorAll('.row .word')].map((one) => one.textContent).filter((word) => /done|asks/.test(word)).join()";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [program, folder] = arguments.as_slice() else { return Err("usage: pictures PROGRAM FOLDER".into()) };
    let folder = &std::fs::canonicalize(folder)?;
    let sandbox = Sandbox::new(Path::new(program));
    sandbox.spec("slugs", PLAN);
    sandbox.commit_all("plan");
    let server = sandbox.start(&["serve", "--listen", "127.0.0.1:0"]);
    wait_for("the server's address", || server.stdout().ends_with('\n'));
    let url = server.stdout().trim().trim_start_matches("Open ").to_owned();
    let page = Browser::start(&sandbox.control("desk"), DESK).ok_or("there is no browser here")?;
    page.prefer("prefers-color-scheme", "dark");
    page.open(&url);
    page.click(".run");

    let command = sandbox.install_agent(&agent());
    let flags = ["--max-task-iterations", "2", "--on-exhausted", "ask"];
    let mut run = sandbox.start(&[&["run", "--agent-cmd", &command], &flags[..]].concat());
    let mut frames = Vec::new();
    let (mut asked, mut seen, mut looks) = (false, String::new(), 0);
    while !page.text().contains("\ncomplete") {
        // A picture for each step, whatever the clocks say.
        let now = page.script(STEP).to_string();
        if now != seen {
            sleep(Duration::from_millis(120));
            frames.push(page.picture());
            seen = now;
        }
        looks += 1;
        assert!(looks < 200, "the run gets nowhere: {}", page.text());
        if !asked && page.text().contains("? slugs: 1.3") {
            asked = true;
            std::fs::write(folder.join("question.png"), page.picture())?;
            let phone =
                Browser::start(&sandbox.control("phone"), Screen::PHONE).ok_or("there is no browser here")?;
            phone.open(&url);
            phone.wait_to_see("? slugs: 1.3");
            // Where the pictures are made is of no interest.
            phone.script("document.querySelector('main p.faint').textContent = '~/slugs'");
            std::fs::write(folder.join("phone.png"), phone.picture())?;
            page.type_into("input[aria-label='What to do']", "trim both ends");
            page.press("Fix");
            page.wait_to_see("the next `tillgreen run slugs` takes it");
            run.wait().expect_code(3);
            run = sandbox.start(&["run"]);
        }
        sleep(Duration::from_millis(100));
    }
    run.wait().expect_code(0);
    frames.push(page.picture());
    page.prefer("prefers-color-scheme", "light");
    std::fs::write(folder.join("run.png"), animated(&frames))?;
    let report = folder.join("report.html");
    sandbox.run(&["report", "-o", &report.display().to_string()]).expect_code(0);
    page.open(&format!("file://{}", report.display()));
    std::fs::write(folder.join("report.png"), page.picture())?;
    std::fs::remove_file(report)?;
    Ok(())
}

/// It takes its time, fails at dashes once, and at the ends until somebody says how.
fn agent() -> Agent {
    let says = |text: &str| Step::shell(&format!("sleep 0.7; echo '{text}'; sleep 0.7"));
    let writes = |file: &str| {
        [says(&format!("I write {file}.")), Step::write(file, "good\n"), Step::say("TASK_COMPLETE")]
    };
    let claims = || [says("That looks right to me."), Step::say("TASK_COMPLETE")];
    Agent::new()
        .on("1.1", writes("lower.txt"))
        .on_attempt("1.2", 1, claims())
        .on("1.2", writes("dashes.txt"))
        .on_attempt("1.3", 1, claims())
        .on_attempt("1.3", 2, claims())
        .on("1.3", writes("ends.txt"))
        .on("2.1", writes("usage.md"))
        .on("2.2", writes("examples.txt"))
}

/// Pictures one after the other, as an animated PNG; all of them have the same size.
fn animated(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let count = u32::try_from(frames.len()).expect("few pictures");
    let mut sequence = 0_u32;
    for (place, frame) in frames.iter().enumerate() {
        let chunks = chunks(frame);
        let header = &chunks.iter().find(|(kind, _)| kind == b"IHDR").expect("a header").1;
        if place == 0 {
            chunk(&mut file, b"IHDR", header);
            chunk(&mut file, b"acTL", &[count.to_be_bytes(), 0_u32.to_be_bytes()].concat());
        }
        // Size, place, and how long it stays: the last one longer.
        let hundredths: u16 = if place + 1 == frames.len() { 300 } else { 60 };
        let mut control = sequence.to_be_bytes().to_vec();
        sequence += 1;
        control.extend_from_slice(&header[..8]);
        control.extend_from_slice(&[0; 8]);
        control.extend_from_slice(&hundredths.to_be_bytes());
        control.extend_from_slice(&[0, 100, 0, 0]);
        chunk(&mut file, b"fcTL", &control);
        let data: Vec<u8> =
            chunks.iter().filter(|(kind, _)| kind == b"IDAT").flat_map(|(_, data)| data.clone()).collect();
        if place == 0 {
            chunk(&mut file, b"IDAT", &data);
        } else {
            chunk(&mut file, b"fdAT", &[&sequence.to_be_bytes()[..], &data].concat());
            sequence += 1;
        }
    }
    chunk(&mut file, b"IEND", &[]);
    file
}

/// The parts of a PNG.
fn chunks(png: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let (mut rest, mut chunks) = (&png[8..], Vec::new());
    while rest.len() >= 12 {
        let length = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        chunks.push(([rest[4], rest[5], rest[6], rest[7]], rest[8..8 + length].to_vec()));
        rest = &rest[12 + length..];
    }
    chunks
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    file.extend_from_slice(&u32::try_from(data.len()).expect("a small part").to_be_bytes());
    let begin = file.len();
    file.extend_from_slice(kind);
    file.extend_from_slice(data);
    let sum = checksum(&file[begin..]);
    file.extend_from_slice(&sum.to_be_bytes());
}

fn checksum(bytes: &[u8]) -> u32 {
    let shift = |sum: u32| if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
    let step = |sum: u32, byte: &u8| (0..8).fold(sum ^ u32::from(*byte), |sum, _| shift(sum));
    !bytes.iter().fold(u32::MAX, step)
}
