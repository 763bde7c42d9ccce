/**
 * Light or dark: follows the system until the user chooses otherwise; the browser remembers the choice for this server.
 * The colors themselves are in console.css.
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
    // The browser stores nothing for this page: the choice lasts until the page is closed.
  }
}

function remembered(): string | null {
  try {
    return localStorage.getItem(storeKey);
  } catch {
    return null;
  }
}
