//! What listening to an agent costs: a run whose agent prints a long stream of events, against `cat` of the same
//! stream, per line and per attempt; and the memory that it takes.

mod scratch;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use scratch::{Scratch, Taken, megabytes};

/// How often the block is printed: about a gigabyte, or a little with `--quick`.
const BLOCKS: u32 = 1_024;
const BLOCKS_QUICK: u32 = 32;
const BLOCK_BYTES: usize = 1024 * 1024;

const PLAN: &str = "- [ ] 1.1 Write\n  - **Files**: `out.txt`\n  - **Verify**: `test -f out.txt`\n";

/// Prints the block so often as it is told, and the end of a stream.
const AGENT: &str = r#"#!/bin/sh
cat > /dev/null
i=0
while [ $i -lt "$BLOCKS" ]; do cat block.jsonl; i=$((i + 1)); done
echo work > out.txt
echo '{"type":"result","subtype":"success","is_error":false,"result":"TASK_COMPLETE","session_id":"s","permission_denials":[]}'
"#;

fn main() {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let blocks = if is_quick { BLOCKS_QUICK } else { BLOCKS };
    let block = block();
    let lines = u32::try_from(block.lines().count()).unwrap_or(u32::MAX).saturating_mul(blocks);
    let short = run(0, &block);
    let Taken { time: long, memory, busy } = run(blocks, &block);
    let cat = cat(blocks, &block);
    let listening = long.saturating_sub(short.time);
    println!(
        "a stream of {:.0} MB in {lines} lines: {:.1} times the time of cat; {:.1} µs a line, {:.1} of them its own; {:.1} MB of memory",
        megabytes(BLOCK_BYTES as u64 * u64::from(blocks)),
        listening.as_secs_f64() / cat.as_secs_f64(),
        listening.as_secs_f64() * 1e6 / f64::from(lines),
        busy.as_secs_f64() * 1e6 / f64::from(lines),
        megabytes(memory)
    );
    println!("a run of one attempt without a stream: {:.0} ms", short.time.as_secs_f64() * 1e3);
    assert!(memory <= 32 * 1024 * 1024, "a stream of any length is heard within 32 MB");
}

/// Lines as a real agent prints them: words, tools, and long results of tools.
fn block() -> String {
    let said = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"Now I will look at the next file and see what is missing there."}],"usage":{"input_tokens":1000,"output_tokens":1}},"session_id":"s"}"#;
    let tool = r#"{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","name":"Bash","input":{"command":"cargo test --workspace"}}]},"session_id":"s"}"#;
    let result = format!(
        r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","content":"{}"}}]}},"session_id":"s"}}"#,
        "test some::module::works ... ok\\n".repeat(60)
    );
    let mut block = String::new();
    while block.len() < BLOCK_BYTES {
        for line in [said, tool, &result] {
            block.push_str(line);
            block.push('\n');
        }
    }
    block
}

fn files(blocks: u32, block: &str) -> Vec<(String, String)> {
    let settings = format!(
        "[agents.loud]\nkind = \"claude\"\nprogram = \"./agent.sh\"\nenv = {{ BLOCKS = \"{blocks}\" }}\n"
    );
    vec![
        ("specs/bench/tasks.md".to_owned(), PLAN.to_owned()),
        ("tillgreen.toml".to_owned(), settings),
        ("block.jsonl".to_owned(), block.to_owned()),
    ]
}

fn run(blocks: u32, block: &str) -> Taken {
    let scratch = Scratch::new(AGENT, &files(blocks, block));
    scratch.run(&["run", "bench", "--agent", "loud", "--report-tools=false"], &[])
}

fn cat(blocks: u32, block: &str) -> Duration {
    let scratch = Scratch::new(AGENT, &files(blocks, block));
    let started = Instant::now();
    let status = Command::new("sh")
        .args(["-c", "./agent.sh < /dev/null | cat > /dev/null"])
        .env("BLOCKS", blocks.to_string())
        .current_dir(scratch.root())
        .stdout(Stdio::null())
        .status()
        .expect("sh runs");
    assert!(status.success());
    started.elapsed()
}
