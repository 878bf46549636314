"""`mooring mcp doctor`."""

import click

from mooring.actions.doctor import Finding, diagnose
from mooring.cli.base import Command, get_globals, print_json
from mooring.display.text import safe, short_path


@click.command("doctor", cls=Command)
@click.pass_context
def command(ctx: click.Context) -> None:
    """What to mend, each with the command that mends it. Nothing is started; exits 1 if anything is unhealthy."""
    options = get_globals(ctx)
    where = options.request().where
    report = diagnose(options.inventory(), where)
    if options.json:
        print_json({"healthy": report.healthy, "files": report.files, "findings": report.findings})
    else:
        _print(report.files, report.servers, report.findings, where.home, options.verbose)
    ctx.exit(0 if report.healthy else 1)


def _print(files: tuple[str, ...], servers: int, findings: tuple[Finding, ...], home: str, verbose: bool) -> None:
    click.echo(f"Read {_count(len(files), 'file')}; {_count(servers, 'server')} configured.")
    for path in files if verbose or not findings else ():
        click.echo(f"  {short_path(path, home)}")
    for finding in findings:
        click.echo(click.style(_headline(finding, home), fg="red" if finding.unhealthy else "yellow"))
        if finding.fix:
            click.echo(f"    mend: {safe(finding.fix)}")
    if not findings:
        click.echo(click.style("Nothing to mend.", fg="green"))


def _headline(finding: Finding, home: str) -> str:
    mark = "✗" if finding.unhealthy else "?"
    line = f":{finding.line}" if finding.line else ""
    place = f"  ({short_path(finding.path, home)}{line})" if finding.path else ""
    server = f"{safe(finding.server)}: " if finding.server else ""
    return f"{mark} {server}{safe(finding.what)}{place}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
