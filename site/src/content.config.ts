import { docsLoader } from '@astrojs/starlight/loaders'
import { docsSchema } from '@astrojs/starlight/schema'
import { z } from 'astro/zod'
import { defineCollection } from 'astro:content'

/** What `import/main.ts` writes at the top of each page. */
const extend = z.object({
  source: z.string().optional(),
  section: z.string().optional(),
  group: z.string().default('Guides'),
  updated: z.string().optional(),
  isRun: z.boolean().default(false),
  card: z.string().optional(),
})

export const collections = {
  docs: defineCollection({ loader: docsLoader(), schema: docsSchema({ extend }) }),
}
