local ok, magenta = pcall(require, "magenta")
if not ok then
  return
end
magenta.setup {
  mcpServers = {
    through = { command = "through", args = { "a variable" } },
  },
}
