import { Page } from '../../ui/page.tsx'
import { words } from '../../words/words.ts'

export function UnknownsPage() {
  return <Page title={words.unknowns.title} />
}
