import type {
  PreparedChange,
  SavedChange,
  StoredConfiguration,
  StoredObject,
} from '#ports/stored-configuration.ts'
import type { Actor } from '#ports/audit.ts'

/** Objects in memory. It keeps no history and no secret. */
export class MemoryConfiguration implements StoredConfiguration {
  #objects: readonly StoredObject[]
  #version = 1n

  constructor(objects: readonly StoredObject[] = []) {
    this.#objects = objects
  }

  async read(): Promise<readonly StoredObject[]> {
    return this.#objects
  }

  async change(
    prepare: (before: readonly StoredObject[]) => PreparedChange,
    { name: by }: Actor,
  ): Promise<SavedChange> {
    const { objects, summary, credentials } = prepare(this.#objects)
    this.#version += 1n
    const gone = new Set(objects.map(({ object, name, renamedFrom = name }) => `${object} ${renamedFrom}`))
    const kept = this.#objects.filter(({ object, name }) => !gone.has(`${object} ${name}`))
    const atMs = 0
    const written = objects.flatMap(({ object, name, after }) =>
      after === null ? [] : [{ object, name, entry: after, revision: this.#version, by, atMs }],
    )
    this.#objects = [...kept, ...written]
    const records = credentials.flatMap((step) =>
      step.kind === 'put'
        ? [
            {
              upstream: step.upstream,
              baseUrl: step.baseUrl,
              hasSecret: true,
              updatedAtMs: 0,
              tail: step.secret.slice(-4),
            },
          ]
        : [],
    )
    return { id: this.#version, atMs, by, summary, objects, credentials: records }
  }
}
