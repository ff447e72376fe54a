// JSON from the server, or null when it cannot be had now. A session that has ended leads to the login page.
export async function ask(address, query) {
  const reply = await fetch(query ? `${address}?${new URLSearchParams(query)}` : address).catch(() => null);
  if (reply?.redirected) location.reload();
  return reply?.ok && !reply.redirected ? reply.json() : null;
}
