/**
 * Light and dark: as the system says, until the reader says otherwise, which is then remembered for this server. The
 * colours themselves are in console.css.
 */

const storeKey = 'oncemq-theme';

export function applyTheme(): void {
  const chosen = remembered();
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset['theme'] = chosen;
}

export function isDark(): boolean {
  const { theme } = document.documentElement.dataset;
  return theme === undefined
    ? matchMedia('(prefers-color-scheme: dark)').matches
    : theme === 'dark';
}

export function switchTheme(): void {
  const chosen = isDark() ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = chosen;
  try {
    localStorage.setItem(storeKey, chosen);
  } catch {
    // A browser that keeps nothing for this page: the choice holds until it is closed.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(storeKey);
  } catch {
    return null;
  }
}
