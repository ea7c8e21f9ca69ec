/** How the console is built: relative addresses, so that it can be served below any path, and compressed once. */
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import tailwind from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { docsIndex } from './docs-index.ts'
import { firstFrame } from './first-frame.ts'

const OUT = join(import.meta.dirname, 'dist')
const COMPRESSIBLE = /\.(?:js|css|svg|html)$/
/** React, the router and the query cache; icons are many small files, and stay with who uses them. */
const LIBRARIES =
  /node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack\/(?:react-router|router-core|history|react-query|query-core|store|react-store)|openapi-fetch)\//
/** What is run before the rest: the language, and what loads it. Whatever reads words when it is first run is not in it. */
const LANGUAGE =
  /console\/src\/(?:words\/(?:in-language|fallback|plural)|app\/(?:base|format|language|money|stored|theme)\.|time\/zone\.)|vite\/preload-helper/
/** The frame, and the parts that it is made of. What only pages use is not in it. */
const SHELL =
  /console\/src\/(?:app\/(?!palette|key-list|styles|range-control|paying-project)|pages\/(?:\w+\/place|settings\/sections)\.|api\/(?:client|faults)|words\/en\/(?:places|settings|shell|ui)\.|ui\/(?:banner|blocked-writes|brand|button|classes|copy|dialog|empty|kbd|keyboard|layers|link|media|menu|menu-look|page|problem|segmented|state-mark|tag|toast|tooltip)\.)|node_modules\/@base-ui\/react\/(?:esm\/)?(?:csp-provider|dialog|menu|toast|tooltip|floating-ui-react|internals|utils|merge-props|use-render)\//
/** Below it, headers weigh more than what is saved. */
const COMPRESSED_FROM_BYTES = 1024

export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [react(), tailwind(), firstFrame(), docsIndex(), compressed()],
  build: {
    outDir: OUT,
    emptyOutDir: true,
    manifest: true,
    target: 'es2024',
    modulePreload: { polyfill: false },
    // An inlined font or picture would be a data: address, which the content security policy refuses.
    assetsInlineLimit: 0,
    rolldownOptions: {
      // A module that reads `words.keys` then loads the words of keys, not those of all pages.
      treeshake: { moduleSideEffects: [{ test: /console\/src\/words\//, sideEffects: false }] },
      output: {
        // What every page needs is one file, not fifty small ones, which compress badly and are asked for one by one.
        codeSplitting: {
          groups: [
            { name: 'libraries', test: LIBRARIES },
            { name: 'language', test: LANGUAGE, priority: 1 },
            { name: 'shell', test: SHELL },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '/api': {
        target: process.env['TORANA_CONTROL_URL'] ?? 'http://127.0.0.1:8081',
        // The node looks at where a write comes from.
        headers: { origin: process.env['TORANA_CONTROL_URL'] ?? 'http://127.0.0.1:8081' },
      },
    },
  },
})

/** Lays a `.br` and a `.gz` beside each text file, so that no node compresses anything while it serves. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    closeBundle() {
      for (const name of readdirSync(OUT, { recursive: true, encoding: 'utf8' })) {
        const file = join(OUT, name)
        if (!COMPRESSIBLE.test(name) || name === 'index.html' || statSync(file).size < COMPRESSED_FROM_BYTES)
          continue
        const bytes = readFileSync(file)
        writeFileSync(
          `${file}.br`,
          brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
        )
        writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
      }
    },
  }
}
