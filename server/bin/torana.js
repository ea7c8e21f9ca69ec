#!/usr/bin/env -S node --max-semi-space-size=32
// A larger young generation: with many requests in flight it halves the garbage collector's work (docs/decisions).
// Plain JavaScript, so that an old Node can still read the message.
const [major] = process.versions.node.split('.')
if (Number(major) < 26) {
  process.stderr.write(
    `torana: needs Node.js 26 or newer, this is ${process.version}. Install it, or run: npx -p node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}@26 node ${process.argv.slice(1).join(' ')}\n`,
  )
  process.exit(1)
}
// Bytes outside of the heap are counted together with it. By themselves they would call for a collection of the whole heap with
// every 64 MB that came and went, which is every other second under load (docs/decisions). Set here and not on the command line,
// where a version of Node without it would not start.
const { setFlagsFromString } = await import('node:v8')
setFlagsFromString('--external-memory-accounted-in-global-limit')
// Loading the program takes a moment in which nothing is open yet: a start that gets a signal then ends at once. Once the program
// listens itself, this one does nothing. It is never removed: a signal on its way would be lost with it.
const [command = 'start'] = process.argv.slice(2)
if (command === 'start' || command === 'demo' || command.startsWith('-'))
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.on(signal, () => {
      if (process.listenerCount(signal) === 1) process.exit(0)
    })
await import('../src/cli/torana.ts')
