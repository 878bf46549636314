require("magenta").setup({ mcpServers = { secret = { env = { K = "canary-magenta-4" } } } })
