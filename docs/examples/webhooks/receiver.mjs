import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import OpenAI from 'openai'

const { webhooks } = new OpenAI({ apiKey: 'not needed here', webhookSecret: process.env.WEBHOOK_SECRET })

async function statusFor(request) {
  const body = await text(request) // exactly as it arrived: a parsed and rewritten body has another signature
  try {
    const event = await webhooks.unwrap(body, request.headers)
    console.log(event.id, event.type, event.data)
    return 204
  } catch (error) {
    console.log('refused:', error.message)
    return 400
  }
}

createServer((request, response) => {
  void statusFor(request).then((status) => response.writeHead(status).end())
}).listen(9000)
