import connectors from '../en/connectors.json';
import { addTexts } from './add-texts.ts';

await addTexts({ connectors }, () => import('../ja-pages.ts'));
