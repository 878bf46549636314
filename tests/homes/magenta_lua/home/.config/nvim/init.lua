-- require("magenta").setup({ mcpServers = { commented = { command = "never", args = {} } } })
--[[ { "dlants/magenta.nvim", opts = { mcpServers = { also = { command = "never", args = {} } } } } ]]
local servers = require("servers")
require("lazy").setup("plugins")
