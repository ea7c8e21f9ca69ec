/**
 * What every client program does: read `{lists, cases}` from standard input, answer each case with one JSON line.
 * `embed` is the library under test: it returns `{vectors, tokens?}` or throws whatever the library throws.
 */
export async function answerCases(embed, describe) {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  const { lists, cases } = JSON.parse(text)
  for (const { name, inputs, ...asked } of cases)
    await answered(name, { ...asked, texts: lists[inputs] }, embed, describe)
}

async function answered(name, asked, embed, describe) {
  let line
  try {
    const { vectors, tokens } = await embed(asked)
    line = { case: name, ok: true, vectors: vectors.map(base64Of), tokens }
  } catch (error) {
    line = { case: name, ok: false, error: describe(error) }
  }
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve))
}

/** Little-endian float32. A value that is no float32 is rounded, so it shows only if the client changed it. */
function base64Of(values) {
  const bytes = Buffer.alloc(values.length * 4)
  for (const [position, value] of values.entries()) bytes.writeFloatLE(value, position * 4)
  return bytes.toString('base64')
}

/** What a user of openai-node can read off an error. */
export function describeOpenai(error) {
  return {
    class: error.constructor.name,
    status: error.status,
    code: error.code,
    message: error.message,
    requestId: error.requestID ?? error.request_id,
    retryAfter: headerOf(error.headers, 'retry-after'),
  }
}

/** Version 4 has a plain object, later ones a `Headers`. */
function headerOf(headers, name) {
  return (typeof headers?.get === 'function' ? headers.get(name) : headers?.[name]) ?? undefined
}
