return {
  {
    "another/plugin.nvim",
    opts = { mcpServers = { ["not-ours"] = { command = "never", args = {} } } },
  },
  {
    "dlants/magenta.nvim",
    lazy = false,
    build = "npm ci --production",
    keys = {
      { "<leader>m", function() require("magenta").toggle(); vim.cmd("echo 1") end, desc = "magenta" },
    },
    opts = {
      profiles = { { name = "claude", provider = "anthropic", apiKeyEnvVar = "ANTHROPIC_API_KEY" } },
      mcpServers = {
        fetch = {
          command = "uvx",
          args = { 'mcp-server-fetch', [[--root]], "${HOME}\x2fdata"; }, -- literal: magenta.nvim fills nothing in
          env = { PLAIN = "canary-lua-1", TOKEN = os.getenv("GITHUB_TOKEN"), PORT = 8080 },
        },
        ["web-docs"] = {
          url = "http://localhost:8000/mcp",
          requestInit = { headers = { Authorization = "Bearer " .. vim.env.DOCS_TOKEN, ["X-Key"] = 'canary-lua-2' } },
        },
        empty = { command = "empty", args = {}, env = {} },
        shared = { command = "of-the-lua", args = {} },
        gone = nil,
        made_up = { command = "x", args = {} },
        mock = { tools = { { name = "t", description = "d" } } },
        argless = { command = "argless" },
        run = { command = vim.fn.exepath("run"), args = {} },
        nested = {
          command = "nested",
          args = {},
          env = {
            KEY = get_secret("canary-lua-3"),
          },
        },
        call = make_server({ name = "canary-lua-4" }),
        [computed_name] = { command = "x", args = {} },
      },
    },
  },
}
