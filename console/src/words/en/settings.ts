export const settings = {
  title: 'Settings',
  sections: {
    general: 'General',
    members: 'Members',
    'sign-on': 'Sign-on',
    tokens: 'Tokens',
    prices: 'Prices',
    projects: 'Projects',
    retention: 'Retention',
    nodes: 'Nodes',
    about: 'About',
  },
  forbidden: (section: string) => `${section} is for admins.`,
}
