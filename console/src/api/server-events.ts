/** Reads a stream of server-sent events, as `text/event-stream` writes them. Comments keep a connection open, and are skipped. */

export interface ServerEvent {
  readonly name: string
  readonly data: string
}

/** Takes pieces of text as they arrive, cut anywhere, and gives the events that are whole. */
export class ServerEventReader {
  #rest = ''

  read(piece: string): ServerEvent[] {
    const blocks = (this.#rest + piece).replaceAll('\r\n', '\n').split('\n\n')
    this.#rest = blocks.pop() ?? ''
    return blocks.flatMap((block) => eventOf(block) ?? [])
  }
}

function eventOf(block: string): ServerEvent | undefined {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split('\n')) {
    if (line.startsWith('event:')) name = line.slice('event:'.length).trim()
    else if (line.startsWith('data:')) data.push(line.slice('data:'.length).replace(/^ /, ''))
  }
  return data.length === 0 ? undefined : { name, data: data.join('\n') }
}
