import { type CSSVariablesResolver, createTheme, DEFAULT_THEME } from '@mantine/core'

export const theme = createTheme({
  primaryColor: 'indigo',
  primaryShade: 8,
  autoContrast: true,
  respectReducedMotion: true,
  defaultRadius: 'md',
  fontFamily: 'system-ui, "Segoe UI", Roboto, "Noto Sans", Helvetica, Arial, sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  headings: { fontFamily: 'inherit', fontWeight: '650' },
  cursorType: 'pointer',
})

/** Mantine's dimmed and tinted texts have less contrast than WCAG 2.2 AA requires (1.4.3). */
export const variables: CSSVariablesResolver = () => {
  const light: Record<string, string> = {
    '--mantine-color-dimmed': '#545b64',
    '--mantine-color-placeholder': '#5f6670',
    '--mantine-color-error': '#b42318',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-8)',
  }
  const dark: Record<string, string> = {
    '--mantine-color-dimmed': '#abb1ba',
    '--mantine-color-placeholder': '#a0a6af',
    '--mantine-color-error': '#ff9b93',
    '--mantine-color-anchor': 'var(--mantine-color-indigo-3)',
    '--mantine-color-body': '#1f2124',
  }
  for (const color of Object.keys(DEFAULT_THEME.colors)) {
    if (color === 'dark') continue
    light[`--mantine-color-${color}-light-color`] = `color-mix(in srgb, var(--mantine-color-${color}-9), black 32%)`
    dark[`--mantine-color-${color}-light-color`] = `var(--mantine-color-${color}-2)`
  }
  return { variables: {}, light, dark }
}
