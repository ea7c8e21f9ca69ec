import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function UsagePage() {
  return <Page title={words.usage.title} />
}
