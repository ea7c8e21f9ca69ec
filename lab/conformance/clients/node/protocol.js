/**
 * What every client program does: read `{cases, …}` from standard input, answer each case with one JSON line.
 * `answer` asks the library under test: it returns what the line shall say, or throws whatever the library throws.
 */
export async function answerCases(answer, describe) {
  let text = ''
  for await (const chunk of process.stdin.setEncoding('utf8')) text += chunk
  const { cases, ...shared } = JSON.parse(text)
  for (const asked of cases) await answered(asked, shared, answer, describe)
}

async function answered(asked, shared, answer, describe) {
  let line
  try {
    line = { case: asked.name, ok: true, ...(await answer(asked, shared)) }
  } catch (error) {
    line = { case: asked.name, ok: false, error: describe(error) }
  }
  await new Promise((resolve) => process.stdout.write(`${JSON.stringify(line)}\n`, resolve))
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
    shouldRetry: headerOf(error.headers, 'x-should-retry'),
  }
}

/** Version 4 has a plain object, later ones a `Headers`. */
function headerOf(headers, name) {
  return (typeof headers?.get === 'function' ? headers.get(name) : headers?.[name]) ?? undefined
}

/** What a user of the Vercel AI SDK can read off an error. */
export function describeAiSdk(error) {
  return {
    class: error.name,
    status: error.statusCode,
    code: error.data?.error?.code,
    message: error.message,
    requestId: error.responseHeaders?.['x-request-id'],
    retryAfter: error.responseHeaders?.['retry-after'],
    shouldRetry: error.responseHeaders?.['x-should-retry'],
  }
}

/** What a caller without a library reads off an answer that is an error. */
export class Refused extends Error {
  constructor({ status, headers }, { code, message }) {
    super(message)
    Object.assign(this, { status, code, requestId: headers.get('x-request-id') })
  }
}

export function describeRefused({ status, code, message, requestId }) {
  return { class: 'Error', status, code, message, requestId }
}
