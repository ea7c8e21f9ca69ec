/** The documentation as a site. `import/` has written its pages and its sidebar before this is read. */
import { readFileSync } from 'node:fs'
import { satteri } from '@astrojs/markdown-satteri'
import starlight from '@astrojs/starlight'
import { defineConfig } from 'astro/config'
import type { SidebarGroup } from './import/sidebar.ts'
import { gatewayLinks } from './src/api/operations.ts'
import { frames, theme } from './src/code/frames.ts'
import { tables } from './src/code/tables.ts'

const { sidebar } = JSON.parse(readFileSync(new URL('.cache/site.json', import.meta.url), 'utf8')) as {
  readonly sidebar: readonly SidebarGroup[]
}
const { SITE_URL, SITE_BASE = '/' } = process.env

export default defineConfig({
  ...(SITE_URL !== undefined && { site: SITE_URL }),
  base: SITE_BASE,
  markdown: {
    processor: satteri({ hastPlugins: [() => tables()] }),
    shikiConfig: { theme, transformers: [frames], langAlias: { jsonl: 'json', promql: 'text' } },
  },
  integrations: [
    starlight({
      title: 'Torana',
      description: 'The self-hosted, OpenAI-compatible gateway for embeddings and images',
      customCss: ['./src/styles/site.css'],
      expressiveCode: false,
      credits: false,
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 2 },
      markdown: { headingLinks: false },
      components: {
        ContentPanel: './src/components/ContentPanel.astro',
        Footer: './src/components/Footer.astro',
        Head: './src/components/Head.astro',
        Header: './src/components/Header.astro',
        MarkdownContent: './src/components/MarkdownContent.astro',
        PageFrame: './src/components/PageFrame.astro',
        PageSidebar: './src/components/PageSidebar.astro',
        PageTitle: './src/components/PageTitle.astro',
        Search: './src/components/Search.astro',
        Sidebar: './src/components/Sidebar.astro',
        ThemeProvider: './src/components/ThemeProvider.astro',
        TwoColumnContent: './src/components/TwoColumnContent.astro',
      },
      sidebar: sidebar.map(({ label, items }) => ({
        label,
        items: [...items, ...(label === 'Reference' ? gatewayLinks() : [])],
      })),
    }),
  ],
})
