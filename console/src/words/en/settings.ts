import { inLanguage } from '../in-language.ts'

export const settings = inLanguage('settings', {
  sections: {
    general: 'General',
    members: 'Members',
    'sign-on': 'Single sign-on',
    tokens: 'API tokens',
    prices: 'Prices',
    projects: 'Projects',
    retention: 'Retention',
    nodes: 'Nodes',
    about: 'About',
  },
  forbidden: (section: string) => `${section} requires the Admin role.`,
})
