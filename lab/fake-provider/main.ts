import { parseArgs } from 'node:util'
import { imageWires } from './images/wires/all.ts'
import { playerTexts } from './players/all.ts'
import { startFakeProvider } from './server.ts'
import { allTraits } from './traits.ts'
import { wires } from './wires/all.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9100' },
    host: { type: 'string', default: '127.0.0.1' },
    log: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})

function catalogue(origin: string): string {
  const bases = wires.map(({ name, base }) => `  ${name.padEnd(10)} ${origin}/<traits>/${base}`)
  const pictures = imageWires.map(({ name, base }) => `  ${name.padEnd(10)} ${origin}/<traits>/${base}`)
  const rows = Object.entries(allTraits).map(([trait, what]) => `  ${trait.padEnd(22)} ${what}`)
  return [
    'Base URLs for vectors:',
    ...bases,
    '',
    'For pictures:',
    ...pictures,
    '',
    'Traits (join with +; N is a number):',
    ...rows,
    '',
    'Upstreams that are no scenario, with no log, below the same origin:',
    ...Object.entries(playerTexts).map(([name, what]) => `  ${name.padEnd(22)} ${what}`),
  ].join('\n')
}

if (values.help) {
  console.log('node lab/fake-provider/main.ts [--port 9100] [--host 127.0.0.1] [--log served.jsonl]\n')
  console.log(catalogue('http://127.0.0.1:9100'))
} else {
  const provider = await startFakeProvider({
    port: Number(values.port),
    host: values.host,
    ...(values.log === undefined ? {} : { logFile: values.log }),
  })
  console.log(`fake-provider: ${provider.url}`)
  console.log(catalogue(provider.url))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void provider.close())
}
