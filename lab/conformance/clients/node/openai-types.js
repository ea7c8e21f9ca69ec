/** openai-node asks for every type in every form. Arguments: the installed version, and the cases as JSON. */
const { default: OpenAI } = await import(process.argv[2])
const { baseUrl, apiKey, model, input, cases } = JSON.parse(process.argv[3])

const client = new OpenAI({ baseURL: baseUrl, apiKey, maxRetries: 0 })
const results = []
for (const fields of cases) {
  try {
    const { data } = await client.embeddings.create({ model, input, ...fields })
    results.push({ embedding: data[0].embedding })
  } catch (error) {
    results.push({ error: error.code ?? String(error) })
  }
}
process.stdout.write(JSON.stringify(results))
