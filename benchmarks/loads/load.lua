-- Sends random requests from a file (one per line: path, tab, key) and prints the counts.
local requests = {}

function init(arguments)
  math.randomseed(tonumber(arguments[2]))
  for line in io.lines(arguments[1]) do
    local path, key = line:match("^(.-)\t(.*)$")
    requests[#requests + 1] = wrk.format("GET", path, { ["Authorization"] = "Bearer " .. key })
  end
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency, _)
  local errors = summary.errors
  io.write(string.format("RESULT %d %d %d\n", summary.requests, summary.duration,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
