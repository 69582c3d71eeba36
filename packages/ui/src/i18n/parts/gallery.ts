import gallery from '../en/gallery.json';
import { addTexts } from './add-texts.ts';

await addTexts({ gallery }, () => import('../ja-pages.ts'));
