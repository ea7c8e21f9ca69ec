declare module 'virtual:docs' {
  /** See `console/docs-index.ts`. */
  export const DOCS: readonly {
    readonly path: string
    readonly title: string
    readonly headings: readonly (readonly [anchor: string, text: string])[]
  }[]
}

declare module 'virtual:contract/gateway' {
  export const CONTRACT: unknown
}

declare module 'virtual:contract/control' {
  export const CONTRACT: unknown
}
