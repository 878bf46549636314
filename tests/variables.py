"""Environments as they are found: what desktops, shells and CI systems set, and what people keep in them as secrets."""

SHA = "6ec3ff8b3b26a857a9a257f6cb52fb684e8650b7"
UUID = "5f0d1a7e-3c1b-4c53-9d0e-8a7be5c2f101"
HEX = "0123456789abcdef0123456789abcdef"

ORDINARY = {
    # GNOME, KDE, Wayland and X11
    "HOME": "/home/ana", "USER": "ana", "LOGNAME": "ana", "SHELL": "/bin/zsh", "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "sk_SK.UTF-8", "LC_TIME": "de_DE.UTF-8", "LANGUAGE": "en_US:en", "TERM": "xterm-256color",
    "COLORTERM": "truecolor", "DISPLAY": ":0", "WAYLAND_DISPLAY": "wayland-0", "XAUTHORITY": "/run/user/1000/.mutter-Xwaylandauth.K2WPZ2",
    "XDG_RUNTIME_DIR": "/run/user/1000", "XDG_SESSION_ID": "3", "XDG_SESSION_TYPE": "wayland", "XDG_SEAT": "seat0",
    "XDG_SESSION_CLASS": "user", "XDG_CURRENT_DESKTOP": "ubuntu:GNOME", "XDG_MENU_PREFIX": "gnome-", "XDG_VTNR": "2",
    "XDG_DATA_DIRS": "/usr/share/ubuntu:/usr/local/share/:/usr/share/:/var/lib/snapd/desktop",
    "XDG_CONFIG_DIRS": "/etc/xdg/xdg-ubuntu:/etc/xdg", "XDG_SESSION_COOKIE": f"{HEX}-1700000000.123456-1804289383",
    "DBUS_SESSION_BUS_ADDRESS": f"unix:path=/run/user/1000/bus,guid={HEX}", "GDMSESSION": "ubuntu",
    "DESKTOP_SESSION": "ubuntu", "GNOME_SHELL_SESSION_MODE": "ubuntu", "GNOME_DESKTOP_SESSION_ID": "this-is-deprecated",
    "GNOME_KEYRING_CONTROL": "/run/user/1000/keyring", "GNOME_SETUP_DISPLAY": ":1",
    "GNOME_TERMINAL_SCREEN": "/org/gnome/Terminal/screen/5f0d1a7e_3c1b_4c53_9d0e_8a7be5c2f101",
    "GNOME_TERMINAL_SERVICE": ":1.103", "VTE_VERSION": "7600", "GTK_MODULES": "gail:atk-bridge", "QT_ACCESSIBILITY": "1",
    "QT_IM_MODULE": "ibus", "XMODIFIERS": "@im=ibus", "SESSION_MANAGER": "local/ana:@/tmp/.ICE-unix/2345,unix/ana:/tmp/.ICE-unix/2345",
    "SSH_AUTH_SOCK": "/run/user/1000/keyring/ssh", "SSH_AGENT_PID": "2290", "SSH_ASKPASS": "/usr/bin/ksshaskpass",
    "GPG_AGENT_INFO": "/run/user/1000/gnupg/S.gpg-agent:0:1", "GPG_TTY": "/dev/pts/0", "WINDOWPATH": "2",
    "KDE_FULL_SESSION": "true", "KDE_SESSION_UID": "1000", "KDE_SESSION_VERSION": "6", "KONSOLE_VERSION": "240502",
    "KONSOLE_DBUS_SERVICE": ":1.71", "KONSOLE_DBUS_SESSION": "/Sessions/1", "SHELL_SESSION_ID": HEX, "PROFILEHOME": "",
    "XCURSOR_THEME": "breeze_cursors", "KDE_APPLICATIONS_AS_SCOPE": "1", "PAM_KWALLET5_LOGIN": "/run/user/1000/kwallet5.socket",
    "INVOCATION_ID": HEX, "JOURNAL_STREAM": "9:34567", "MANAGERPID": "2101", "SYSTEMD_EXEC_PID": "2345",
    "MEMORY_PRESSURE_WATCH": "/sys/fs/cgroup/user.slice/memory.pressure", "MEMORY_PRESSURE_WRITE": "c29tZSAyMDAwMDAgMjAwMDAwMAA=",
    "DESKTOP_STARTUP_ID": "gnome-shell/Terminal/2345-0-ana_TIME123456", "XDG_ACTIVATION_TOKENS_SEEN": "12",
    # shells, terminals, multiplexers, editors
    "PWD": "/home/ana/project", "OLDPWD": "/home/ana", "SHLVL": "2", "_": "/usr/bin/env", "PS1": "\\u@\\h:\\w\\$ ",
    "LS_COLORS": "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33", "LSCOLORS": "Gxfxcxdxbxegedabagacad", "LESSOPEN": "| /usr/bin/lesspipe %s",
    "HISTCONTROL": "ignoreboth:erasedups", "PROMPT_COMMAND": "__vte_prompt_command", "EDITOR": "nvim", "PAGER": "less -R",
    "TMUX": "/tmp/tmux-1000/default,4242,0", "TMUX_PANE": "%3", "STY": "1234.pts-0.ana", "TERM_PROGRAM": "vscode",
    "TERM_PROGRAM_VERSION": "1.95.2", "TERM_SESSION_ID": UUID.upper(), "ITERM_SESSION_ID": f"w0t1p0:{UUID.upper()}",
    "ITERM_PROFILE": "Default", "KITTY_WINDOW_ID": "1", "KITTY_PUBLIC_KEY": "1:XnLWg>O#R5Q6`ZxOWd~f*G2m{Hn0tQ4%U<5E2>Xa",
    "KITTY_INSTALLATION_DIR": "/usr/lib/kitty", "ALACRITTY_SOCKET": "/run/user/1000/Alacritty-:0-2345.sock",
    "WEZTERM_UNIX_SOCKET": "/run/user/1000/wezterm/gui-sock-1", "STARSHIP_SESSION_KEY": "1438529087634521",
    "STARSHIP_SHELL": "zsh", "ATUIN_SESSION": HEX, "ZDOTDIR": "/home/ana/.config/zsh", "VSCODE_INJECTION": "1",
    "VSCODE_GIT_ASKPASS_MAIN": "/usr/share/code/resources/app/extensions/git/dist/askpass-main.js",
    "VSCODE_GIT_ASKPASS_NODE": "/usr/share/code/code", "VSCODE_GIT_IPC_HANDLE": "/run/user/1000/vscode-git-2f6a.sock",
    "GIT_ASKPASS": "/usr/share/code/resources/app/extensions/git/dist/askpass.sh", "CURSOR_TRACE_ID": HEX,
    "SSH_CLIENT": "10.0.0.7 51234 22", "SSH_CONNECTION": "10.0.0.7 51234 10.0.0.1 22", "SSH_TTY": "/dev/pts/3",
    "MOTD_SHOWN": "pam", "MAIL": "/var/mail/ana", "KRB5CCNAME": "FILE:/tmp/krb5cc_1000", "PASSWORD_STORE_DIR": "/home/ana/.password-store",
    "HTTPS_PROXY": "http://ana:geheim@proxy.example:8080", "no_proxy": "localhost,127.0.0.1,.example",
    # macOS
    "__CFBundleIdentifier": "com.apple.Terminal", "__CF_USER_TEXT_ENCODING": "0x1F5:0x0:0x0", "XPC_FLAGS": "0x0",
    "XPC_SERVICE_NAME": "application.com.apple.Terminal.1152921500311885126", "SECURITYSESSIONID": "186a6",
    "COMMAND_MODE": "unix2003", "TMPDIR": "/var/folders/q4/9s2k0h1n5t3_b7rj8y6w2z0c0000gn/T/", "LaunchInstanceID": UUID.upper(),
    "HOMEBREW_PREFIX": "/opt/homebrew", "HOMEBREW_CELLAR": "/opt/homebrew/Cellar", "INFOPATH": "/opt/homebrew/share/info:",
    # Windows and WSL
    "WSL_DISTRO_NAME": "Ubuntu-24.04", "WSL_INTEROP": "/run/WSL/12_interop", "WSLENV": "WT_SESSION:WT_PROFILE_ID:", "WT_SESSION": UUID,
    "WT_PROFILE_ID": f"{{{UUID}}}", "WSL2_GUI_APPS_ENABLED": "1", "NAME": "DESKTOP-7QK2M4P", "HOSTTYPE": "x86_64",
    "PROCESSOR_IDENTIFIER": "Intel64 Family 6 Model 158 Stepping 10, GenuineIntel", "USERDOMAIN_ROAMINGPROFILE": "DESKTOP-7QK2M4P",
    # languages and tools
    "NVM_DIR": "/home/ana/.nvm", "NVM_BIN": "/home/ana/.nvm/versions/node/v22.11.0/bin", "VOLTA_HOME": "/home/ana/.volta",
    "PYENV_ROOT": "/home/ana/.pyenv", "VIRTUAL_ENV": "/home/ana/project/.venv", "CONDA_DEFAULT_ENV": "sk-learn-experiments-2024",
    "CONDA_PREFIX": "/opt/conda/envs/sk-learn", "GPG_KEY": "7169605F62C751356D054A26A821E680E5FA6305", "PYTHON_SHA256": HEX * 2,
    "PYTHON_VERSION": "3.12.7", "JAVA_HOME_17_X64": "/usr/lib/jvm/temurin-17-jdk-amd64", "GOPATH": "/home/ana/go",
    "CARGO_HOME": "/home/ana/.cargo", "TOKENIZERS_PARALLELISM": "false", "CLAUDE_CODE_MAX_OUTPUT_TOKENS": "32000",
    "MAX_MCP_OUTPUT_TOKENS": "50000", "CLAUDE_CODE_ENTRYPOINT": "cli", "NODE_OPTIONS": "--max-old-space-size=8192",
    "DOCKER_HOST": "unix:///run/user/1000/docker.sock", "KUBECONFIG": "/home/ana/.kube/config", "AWS_PROFILE": "staging",
    "AWS_REGION": "eu-central-1", "AWS_SDK_LOAD_CONFIG": "1", "GOOGLE_CLOUD_PROJECT": "acme-analytics-417209",
    "NIX_PROFILES": "/nix/var/nix/profiles/default /home/ana/.nix-profile", "NIX_SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
    "KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_PORT": "tcp://10.96.0.1:443", "HOSTNAME": "api-7d9f8b6c5d-x2x7k",
    "POD_NAME": "mooring-worker-6f7d8c9b54-q9zkp", "DEBUGINFOD_URLS": "https://debuginfod.ubuntu.com ",
    # GitHub Actions
    "CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_SHA": SHA, "GITHUB_REF": "refs/heads/main", "GITHUB_RUN_ID": "11862345190",
    "GITHUB_REPOSITORY": "acme/rocket", "GITHUB_API_URL": "https://api.github.com", "GITHUB_ACTION": "__actions_checkout",
    "GITHUB_GRAPHQL_URL": "https://api.github.com/graphql", "GITHUB_WORKFLOW_SHA": SHA, "GITHUB_HEAD_REF": "feature/JIRA-123-Add-OAuth2Login",
    "GITHUB_STEP_SUMMARY": f"/home/runner/work/_temp/_runner_file_commands/step_summary_{UUID}", "GITHUB_RETENTION_DAYS": "90",
    "RUNNER_TRACKING_ID": f"github_{UUID}", "RUNNER_OS": "Linux", "RUNNER_NAME": "GitHub Actions 12", "ImageVersion": "20261101.1.0",
    "POWERSHELL_DISTRIBUTION_CHANNEL": "GitHub-Actions-ubuntu22", "ACTIONS_RUNNER_ACTION_ARCHIVE_CACHE": "/opt/actionarchivecache",
    "DOTNET_SKIP_FIRST_TIME_EXPERIENCE": "1", "ACCEPT_EULA": "Y", "ENABLE_RUNNER_TRACING": "true", "SGX_AESM_ADDR": "1",
    # GitLab CI and Jenkins
    "GITLAB_CI": "true", "CI_COMMIT_SHA": SHA, "CI_COMMIT_BEFORE_SHA": "0" * 40, "CI_COMMIT_SHORT_SHA": SHA[:8],
    "CI_API_V4_URL": "https://gitlab.com/api/v4", "CI_API_GRAPHQL_URL": "https://gitlab.com/api/graphql", "CI_PIPELINE_ID": "1534876510",
    "CI_COMMIT_AUTHOR": "Ana Ek <ana@example.com>", "CI_COMMIT_REF_SLUG": "feature-add-oauth2-login-for-admins", "CI_PROJECT_PATH": "acme/rocket",
    "CI_JOB_NAME": "test: [3.12, linux]", "CI_SERVER_TLS_CA_FILE": "/builds/acme/rocket.tmp/CI_SERVER_TLS_CA_FILE",
    "CI_REGISTRY_IMAGE": "registry.gitlab.com/acme/rocket", "CI_RUNNER_DESCRIPTION": "3-green.saas-linux-small-amd64.runners-manager.gitlab.com",
    "JENKINS_URL": "https://ci.example.com/", "BUILD_TAG": "jenkins-rocket-main-412", "BUILD_ID": "412", "GIT_COMMIT": SHA,
    "JENKINS_NODE_COOKIE": UUID, "JENKINS_SERVER_COOKIE": "durable-" + HEX, "HUDSON_COOKIE": UUID, "EXECUTOR_NUMBER": "0",
    "BUILDKITE_BUILD_ID": UUID, "CIRCLE_WORKFLOW_ID": UUID, "CIRCLE_SHA1": SHA, "TRAVIS_COMMIT_RANGE": f"{SHA[:12]}...{SHA[12:24]}",
    "SYSTEM_TEAMFOUNDATIONCOLLECTIONURI": "https://dev.azure.com/acme/", "BUILD_SOURCEVERSION": SHA,
    "TF_BUILD": "True", "VERCEL_GIT_COMMIT_SHA": SHA, "NETLIFY_BUILD_BASE": "/opt/buildhome", "HEROKU_SLUG_COMMIT": SHA,
}  # fmt: skip

_RANDOM = "aZ3kQ9vT7mX2bN8cR5yL1wP6"

SECRET = {
    # by their names
    "GITHUB_TOKEN": "canary", "GH_PAT": "canary", "DB_PW": "canary", "DBPW": "canary", "ROOTPW": "canary", "MASTERKEY": "canary",
    "DB_PASSWORD": "canary", "PGPASSWORD": "canary", "MYSQL_PWD": "canary", "SSHPASS": "canary", "SMTP_PASS": "canary",
    "GPG_PASSPHRASE": "canary", "LOGIN_PASSCODE": "canary", "AWS_SECRET_ACCESS_KEY": "canary", "AWS_ACCESS_KEY_ID": "canary",
    "AWS_SESSION_TOKEN": "canary", "OPENAI_API_KEY": "canary", "openai_apikey": "canary", "apiKey": "canary", "STORAGEKEY": "canary",
    "RAILS_MASTER_KEY": "canary", "SIGNING_KEY": "canary", "SSH_PRIVATE_KEY": "canary", "WG_PRIVKEY": "canary", "JWT_SECRET": "canary",
    "SESSION_SECRET": "canary", "CLIENT_SECRET": "canary", "NPM_AUTH": "canary", "BASIC_AUTH": "canary", "REDISCLI_AUTH": "canary",
    "SENTRY_DSN": "canary", "DATABASE_URL": "canary", "MONGO_URI": "canary", "REDIS_URL": "canary", "AMQP_URL": "canary",
    "AZURE_STORAGE_CONNECTION_STRING": "canary", "CONNSTR": "canary", "BLOB_SAS": "canary", "WPA_PSK": "canary", "VAULT_UNSEAL_KEY": "canary",
    "SLACK_WEBHOOK": "canary", "WALLET_MNEMONIC": "canary", "TOTP_SEED": "canary", "APP_CREDENTIALS": "canary", "AWS_CREDS": "canary",
    "HASH_SALT": "canary", "SESSION_COOKIE": "canary", "BEARER": "canary", "HTTP_AUTHORIZATION": "canary", "CI_JOB_JWT": "canary",
    "ANTHROPIC_AUTH_TOKEN": "canary", "LICENSEKEY": "canary", "HMAC": "canary", "TF_VAR_db_pass": "canary",
    # by their values
    "MY_THING_1": f"ghp_{_RANDOM}canary", "MY_THING_2": f"github_pat_{_RANDOM}_canary", "MY_THING_3": f"sk-proj-{_RANDOM}canary",
    "MY_THING_4": f"xoxb-1234567890-{_RANDOM}canary", "MY_THING_5": "AKIA1CANARY2345678XY", "MY_THING_6": f"glpat-{_RANDOM}canary",
    "MY_THING_7": f"npm_{_RANDOM}canary", "MY_THING_8": f"pypi-AgEIcHlwaS5vcmc{_RANDOM}canary", "MY_THING_9": f"hf_{_RANDOM}canary",
    "MY_THING_10": f"AIza{_RANDOM}canary", "MY_THING_11": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnkifQ.c2lnbmF0dXJl",
    "MY_THING_12": "-----BEGIN OPENSSH PRIVATE KEY-----\ncanary\n-----END OPENSSH PRIVATE KEY-----\n", "MY_THING_13": f"sk-ant-api03-{_RANDOM}canary",
    "MY_THING_14": f"sk_live_{_RANDOM}canary", "MY_THING_15": "postgres://ana:canary@db.example/app", "MY_THING_16": "Bearer canary-0123456789",
    "MY_THING_17": "Server=db;User Id=sa;Password=canary;", "MY_THING_18": '{"type": "service_account", "private_key": "canary"}',
    "MY_THING_19": "Kx7mQ2vR9tW4zB8nJ5pL", "MY_THING_20": "dGhpc0lzQVZlcnlSYW5kb21LZXkxMjM0NTY3ODkw_Zq9", "MY_THING_21": f"hvs.{_RANDOM}canary",
    "MY_THING_22": f"shpat_{_RANDOM}canary", "MY_THING_23": f"SG.{_RANDOM}.canary", "MY_THING_24": "https://ana:canary@example.com/feed",
}  # fmt: skip
