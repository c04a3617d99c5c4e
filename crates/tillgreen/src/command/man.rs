//! `tillgreen man`.

use std::io;

use clap::{Command, CommandFactory};

use crate::args::Arguments;
use crate::cli::{Context, Ended};
use crate::exit;

/// Prints the manual page: the program, then every command.
pub(crate) fn run(context: &mut Context) -> Ended {
    let mut page = Vec::new();
    write(&mut page)?;
    context.out.write_all(&page)?;
    Ok(exit::DONE)
}

fn write(page: &mut Vec<u8>) -> io::Result<()> {
    let mut program = Arguments::command();
    program.build();
    clap_mangen::Man::new(program.clone()).render(page)?;
    for command in program.get_subcommands() {
        command_section(command, page)?;
    }
    Ok(())
}

fn command_section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name()).to_uppercase();
    page.extend_from_slice(format!(".SH \"{name}\"\n").as_bytes());
    let man = clap_mangen::Man::new(command.clone());
    man.render_description_section(page)?;
    man.render_synopsis_section(page)?;
    man.render_options_section(page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_described() {
        let mut page = Vec::new();
        write(&mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        for command in Arguments::command().get_subcommands() {
            let heading = format!(".SH \"TILLGREEN {}\"", command.get_name().to_uppercase());
            assert!(page.contains(&heading), "{heading}");
        }
        assert!(page.contains("recovery\\-mode"));
    }
}
