require("magenta").setup({
  mcpServers = { cut = { command = "canary-lua-6
