import trying from '../en/trying.json';
import { addTexts } from './add-texts.ts';

await addTexts({ trying }, () => import('../ja-forms.ts'));
