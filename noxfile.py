"""The tasks of development, in the environment that runs them: nox -s lint tests."""

import nox

nox.options.default_venv_backend = "none"
nox.options.sessions = ["lint", "tests"]


@nox.session
def lint(session: nox.Session) -> None:
    """Style, format and types."""
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """The README's test command; a file or a test may be named: nox -s tests -- tests/search -n 0."""
    session.run("python", "-m", "pytest", *session.posargs)


@nox.session
def rest(session: nox.Session) -> None:
    """What the quick run leaves out, with every example of the property tests."""
    chosen = "(slow or process or property or postgres) and not e2e"
    session.run("python", "-m", "pytest", "-m", chosen, "--hypothesis-profile", "ci", *session.posargs)


@nox.session
def hosts(session: nox.Session) -> None:
    """Claude Code, Codex, Gemini CLI, opencode and Hermes as they install, each with turns of a scripted model."""
    session.run(".ci/openclaw", external=True)
    session.run(".ci/hermes", "python", external=True)
    session.run("python", "-m", "pytest", "-m", "e2e", "-n", "0", "tests/e2e/test_hosts.py", "tests/e2e/test_hermes.py")


@nox.session
def search(session: nox.Session) -> None:
    """Property tests with examples that nobody has drawn yet."""
    session.run("python", "-m", "pytest", "-m", "property", "--hypothesis-profile", "search", *session.posargs)


@nox.session
def tools(session: nox.Session) -> None:
    """Write what is made of the code: the tools of the OpenClaw plugin, the schema of answers, Python."""
    session.run("python", "docs/reference.py")
    session.run("python", "docs/schema.py")
    session.run("python", "docs/python.py")


@nox.session
def docs(session: nox.Session) -> None:
    """The documentation as a site, in site/; needs the extra docs. Its picture: python docs/record.py."""
    session.run("mkdocs", "build", "--strict", *session.posargs)
