import { texts as account } from './ja-account.ts';
import { texts as canvas } from './ja-canvas.ts';
import { texts as credentials } from './ja-credentials.ts';
import { texts as executions } from './ja-executions.ts';
import { texts as files } from './ja-files.ts';
import { texts as first } from './ja-first.ts';
import { texts as forms } from './ja-forms.ts';
import { texts as lists } from './ja-lists.ts';
import { texts as pages } from './ja-pages.ts';
import { texts as runs } from './ja-runs.ts';
import { texts as versions } from './ja-versions.ts';
import { texts as workplace } from './ja-workplace.ts';

/** All UI texts in Japanese. The page loads them in these files. */
export const ja = {
  ...first,
  ...lists,
  ...canvas,
  ...workplace,
  ...versions,
  ...forms,
  ...executions,
  ...runs,
  ...files,
  ...account,
  ...credentials,
  ...pages,
};
