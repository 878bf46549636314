local options = { sidebarPosition = "left" }
options.mcpServers = { hidden = { command = "canary-lua-5", args = {} } }
require("magenta").setup(options)
