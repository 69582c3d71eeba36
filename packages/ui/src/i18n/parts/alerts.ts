import alerts from '../en/alerts.json';
import { addTexts } from './add-texts.ts';

addTexts({ alerts });
