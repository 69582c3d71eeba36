import people from '../en/people.json';
import { addTexts } from './add-texts.ts';

await addTexts({ people }, () => import('../ja-pages.ts'));
