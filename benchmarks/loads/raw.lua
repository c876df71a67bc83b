-- Sends the one request in a file repeatedly, byte for byte, and prints the counts.
local raw

function init(arguments)
  local file = io.open(arguments[1], "rb")
  raw = file:read("*a")
  file:close()
end

function request()
  return raw
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
