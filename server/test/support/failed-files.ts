/** A reporter of node's test runner: the files in which a test failed, a line each. */
import type { TestEvent } from 'node:test/reporters'

// oxlint-disable-next-line import/no-default-export -- the runner asks for one
export default async function* failedFiles(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of events) {
    if (event.type === 'test:summary' && event.data.file && !event.data.success) yield `${event.data.file}\n`
  }
}
