import { parseArgs } from 'node:util'
import { defaultWords, wordsOf } from './ceiling.ts'
import { SentenceModel } from './model.ts'
import { ceilingOf, modelId, modelWidth, startModelServer } from './server.ts'

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '9200' },
    host: { type: 'string', default: '127.0.0.1' },
    measure: { type: 'boolean', default: false },
    words: { type: 'string', default: String(defaultWords) },
    help: { type: 'boolean', default: false },
  },
})

if (values.help) {
  console.log('node lab/model-server/main.ts [--port 9200] [--host 127.0.0.1]')
  console.log(`node lab/model-server/main.ts --measure [--words ${defaultWords}]`)
  console.log(`A real embedding model as an OpenAI server: ${modelId}, ${modelWidth} dimensions, English.`)
} else if (values.measure) {
  const model = await SentenceModel.load()
  const { ceiling, words } = await ceilingOf(model, wordsOf(values.words))
  console.log(`${modelId}, texts of ${words} words, one thread:`)
  console.table(ceiling)
  await model.close()
} else {
  const server = await startModelServer({ port: Number(values.port), host: values.host })
  console.log(`model-server: ${server.url}/v1 serves ${modelId} (${modelWidth} dimensions)`)
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void server.close())
}
