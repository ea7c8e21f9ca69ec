/**
 * A part that the stores in memory lack, but for what is given: every method of it and of its parts rejects. A test that
 * needs more of it starts with a database.
 */
export function absent<Part extends object>(what: string, given: Partial<NoInfer<Part>> = {}): Part {
  const rejects = (): Promise<never> =>
    Promise.reject(new Error(`the stores in memory keep no ${what}: start this test with a database`))
  return new Proxy(rejects, {
    // Without a `then`, a promise resolves with the part itself.
    get: (_, name) => {
      if (name === Symbol.iterator) return () => [].values()
      return Reflect.get(given, name) ?? (name === 'then' ? undefined : absent(what))
    },
  }) as unknown as Part
}
