"""`mooring mcp doctor`: prints what to fix, and how."""

import click

from mooring.actions.doctor import Finding, Report, diagnose
from mooring.cli.base import OK, UNHEALTHY, Command, get_globals, print_json, say
from mooring.display.text import count_noun, safe, short_path


@click.command("doctor", cls=Command)
@click.pass_context
def command(ctx: click.Context) -> None:
    """What to fix, each with the command that fixes it. Nothing is started; exits 1 if anything is unhealthy."""
    options = get_globals(ctx)
    where = options.request().where
    report = diagnose(options.inventory(), where)
    if options.json:
        print_json({"healthy": report.healthy, "files": report.files, "findings": report.findings})
    else:
        _print_report(report, where.home, options.verbose)
    ctx.exit(OK if report.healthy else UNHEALTHY)


def _print_report(report: Report, home: str, verbose: bool) -> None:
    files = count_noun(len(report.files), "file")
    servers = count_noun(report.servers, "server")
    say(f"Read {files}; {servers} configured.")
    # With nothing to fix, the files are what a person wants to know: was the right one among them?
    if verbose or not report.findings:
        for path in report.files:
            say(f"  {short_path(path, home)}")
    for finding in report.findings:
        _print_finding(finding, home)
    if not report.findings:
        say("Nothing to fix.", fg="green")


def _print_finding(finding: Finding, home: str) -> None:
    color = "red" if finding.unhealthy else "yellow"
    say(_make_headline(finding, home), fg=color)
    if finding.fix:
        # Some say it themselves.
        label = "" if finding.fix.startswith("fix ") else "fix: "
        say(f"    {label}{safe(finding.fix)}")


def _make_headline(finding: Finding, home: str) -> str:
    mark = "✗" if finding.unhealthy else "?"
    server = f"{safe(finding.server)}: " if finding.server else ""
    return f"{mark} {server}{safe(finding.what)}{_make_place(finding, home)}"


def _make_place(finding: Finding, home: str) -> str:
    if not finding.path:
        return ""
    line = f":{finding.line}" if finding.line else ""
    return f"  ({short_path(finding.path, home)}{line})"
