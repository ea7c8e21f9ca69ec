#!/usr/bin/env -S node --max-semi-space-size=32
// A larger young generation: with many requests in flight it halves the garbage collector's work (docs/decisions).
// Plain JavaScript, so that an old Node can still read the message.
const [major] = process.versions.node.split('.')
if (Number(major) < 26) {
  process.stderr.write(
    `torana: needs Node.js 26 or newer, this is ${process.version}. Install it, or run: npx -p node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@26 node server/bin/torana.js\n`,
  )
  process.exit(1)
}
await import('../src/cli/torana.ts')
