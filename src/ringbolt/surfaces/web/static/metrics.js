// Parse the Prometheus text format.
export function samples(text) {
  const found = [];
  for (const line of text.split("\n")) {
    const match = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const labels = {};
    for (const [, key, value] of (match[2] || "").matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)) labels[key] = value.replace(/\\(.)/g, (_, letter) => (letter === "n" ? "\n" : letter));
    found.push({ name: match[1], labels, value: Number(match[3]) });
  }
  return found;
}

// Request histograms by route: count, median and 95th percentile, in seconds.
export function latencies(found) {
  const routes = new Map();
  for (const { name, labels, value } of found) {
    if (!name.startsWith("ringbolt_http_request_seconds_")) continue;
    const route = routes.get(labels.route) || { route: labels.route, buckets: [], count: 0, sum: 0 };
    routes.set(labels.route, route);
    if (name.endsWith("_bucket")) route.buckets.push({ le: Number(labels.le.replace("+Inf", "Infinity")), value });
    if (name.endsWith("_count")) route.count = value;
    if (name.endsWith("_sum")) route.sum = value;
  }
  for (const route of routes.values()) {
    route.p50 = quantile(route, 0.5);
    route.p95 = quantile(route, 0.95);
  }
  return [...routes.values()];
}

// The upper bound of the bucket that contains a quantile.
function quantile({ buckets, count }, share) {
  return buckets.find((bucket) => bucket.value >= share * count)?.le ?? Infinity;
}
